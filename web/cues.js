/* A box that scrolls says so: its edge fades where there is more, to the right or below. */

const BOXES = ".scroll, .plot";

function update(box) {
  box.classList.toggle("more-right", box.scrollWidth - box.clientWidth - box.scrollLeft > 2);
  box.classList.toggle("more-below", box.scrollHeight - box.clientHeight - box.scrollTop > 2);
}

export function startCues() {
  const sized = new ResizeObserver((entries) => entries.map(({ target }) => target.closest(BOXES)).filter(Boolean).forEach(update)); /* what was taken out has none */
  for (const box of document.querySelectorAll(BOXES)) {
    const watch = () => [box, ...box.children].forEach((node) => sized.observe(node));
    box.addEventListener("scroll", () => update(box), { passive: true });
    new MutationObserver(watch).observe(box, { childList: true });
    watch();
  }
}
