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
