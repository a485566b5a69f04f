"""Reinforcement learning: actions are drawn from the policy on the card, the environment is on the host."""
import argparse
import random

import torch
from torch.distributions import Categorical

parser = argparse.ArgumentParser()
parser.add_argument("--method", choices=("reinforce", "ppo", "dqn"), default="reinforce")
method = parser.parse_args().method


class Walk:
    """A walk on a line that ends outside of it, or after 30 moves."""

    def reset(self):
        self.place, self.moves = 0.0, 0
        return self.seen()

    def seen(self):
        return [self.place, self.place ** 2, 1.0, self.moves / 30]

    def step(self, action):
        self.place += (action - 0.5) + random.uniform(-0.3, 0.3)
        self.moves += 1
        return self.seen(), 1.0, abs(self.place) > 3 or self.moves == 30


def network(outputs):
    return torch.nn.Sequential(torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, outputs)).cuda()


random.seed(0)
walk, policy, critic = Walk(), network(2), network(1)


def episode():
    seen, rewards, logs, states, actions, done = walk.reset(), [], [], [], [], False
    while not done:
        state = torch.tensor(seen).cuda()
        chance = Categorical(logits=policy(state))
        action = chance.sample()
        logs.append(chance.log_prob(action))
        states.append(state)
        actions.append(action)
        seen, reward, done = walk.step(action.item())
        rewards.append(reward)
    returns, total = [], 0.0
    for reward in reversed(rewards):
        total = reward + 0.99 * total
        returns.insert(0, total)
    returns = torch.tensor(returns).cuda()
    return logs, (returns - returns.mean()) / (returns.std() + 1e-6), states, actions


def reinforce(optimizer):
    logs, returns, *_ = episode()
    loss = -(torch.stack(logs) * returns).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def ppo(optimizer):
    with torch.no_grad():
        logs, returns, states, actions = episode()
    old, states, actions = torch.stack(logs), torch.stack(states), torch.stack(actions)
    for _ in range(3):
        chance = Categorical(logits=policy(states))
        ratio = (chance.log_prob(actions) - old).exp()
        worth = critic(states).squeeze(1)
        gain = returns - worth.detach()
        loss = -torch.min(ratio * gain, ratio.clamp(0.8, 1.2) * gain).mean() + (worth - returns).pow(2).mean() - 0.01 * chance.entropy().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


memory, target = [], network(2)


def dqn(optimizer):
    seen, done = walk.reset(), False
    while not done:
        action = int(policy(torch.tensor(seen).cuda()).argmax()) if random.random() > 0.2 else random.randrange(2)
        after, reward, done = walk.step(action)
        memory.append((seen, action, reward, after, done))
        seen = after
    seen, action, reward, after, done = (torch.tensor(column).cuda() for column in zip(*random.choices(memory, k=64)))
    with torch.no_grad():
        wanted = reward + 0.99 * target(after).max(1).values * ~done
    loss = torch.nn.functional.smooth_l1_loss(policy(seen).gather(1, action[:, None]).squeeze(1), wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    target.load_state_dict(policy.state_dict())


optimizer = torch.optim.Adam([*policy.parameters(), *critic.parameters()], lr=1e-3)
for number in range(8):
    globals()[method](optimizer)
    print("episode", number)
