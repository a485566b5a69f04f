/* Light and dark: as the system has it, until the button says otherwise. */

import { byId, forgetColors, pressed } from "./dom.js";

const system = matchMedia("(prefers-color-scheme: dark)");

function isDark() {
  const forced = document.documentElement.dataset.theme;
  return forced ? forced === "dark" : system.matches;
}

/* `draw` draws again what has colours of its own; it is not called at the start. */
export function startTheme(draw) {
  const press = () => pressed(byId("theme"), isDark());
  const repaint = () => {
    forgetColors();
    press();
    draw();
  };
  byId("theme").addEventListener("click", () => {
    document.documentElement.dataset.theme = isDark() ? "light" : "dark";
    repaint();
  });
  system.addEventListener("change", repaint);
  press();
}
