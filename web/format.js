/* Figures as people read them. Binary units, as in the text report. */

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function size(bytes, digits) {
  let unit = 0;
  let value = bytes;
  while (Math.abs(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  if (unit === 0) return `${value} B`;
  return `${value.toFixed(digits ?? (unit >= 3 ? 2 : 1))} ${UNITS[unit]}`;
}

const whole = new Intl.NumberFormat("en-US");
export const count = (n) => whole.format(n);

export function percent(part, all) {
  if (!all) return "";
  const share = (100 * part) / all;
  return share > 0 && share < 0.1 ? "< 0.1 %" : `${share.toFixed(1)} %`;
}

export function duration(us) {
  if (us < 1000) return `${us} µs`;
  if (us < 1e6) return `${(us / 1000).toFixed(1)} ms`;
  return `${(us / 1e6).toFixed(2)} s`;
}

export const hex = (address) => `0x${address.toString(16)}`;

export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;

/* "zero_grad" → "zero grad" */
export const words = (name) => name.replaceAll("_", " ");

const baseName = (path) => path.slice(path.lastIndexOf("/") + 1);
const isPython = (word) => /^python[\d.]*$/.test(baseName(word));

/* What a command runs, without the interpreter and its options: ["-u", "train.py"] begins at "train.py". */
function behindInterpreter(command) {
  let i = 1;
  while (i < command.length - 1 && /^-[^mc]/.test(command[i])) i += /^-[WX]$/.test(command[i]) ? 2 : 1;
  return command[i] === "-m" && command[i + 1] ? command.slice(i + 1) : command.slice(i);
}

/* The command as people name it: a script instead of the path of the interpreter that runs it. */
export function shortCommand(command) {
  const words_ = isPython(command[0]) && command.length > 1 ? behindInterpreter(command) : [baseName(command[0]), ...command.slice(1)];
  return (words_[0] === "-c" ? ["python", ...words_] : words_).join(" ");
}

export function scriptName(command) {
  const inner = isPython(command[0]) && command.length > 1 ? behindInterpreter(command) : command;
  return inner[0] === "-c" ? "python -c" : baseName(inner.find((word) => word.endsWith(".py")) ?? inner[0]);
}
