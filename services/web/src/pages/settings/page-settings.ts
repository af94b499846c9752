export const THEMES = ["system", "light", "dark"] as const;
export const DENSITIES = ["normal", "compact"] as const;

export interface PageSettings {
  readonly theme: (typeof THEMES)[number];
  readonly density: (typeof DENSITIES)[number];
  /** Single letters do something. */
  readonly hasKeys: boolean;
}

const KEY = "hlvm-settings";
const DEFAULTS: PageSettings = { theme: "system", density: "normal", hasKeys: true };

export function readSettings(): PageSettings {
  try {
    return { ...DEFAULTS, ...(JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<PageSettings>) };
  } catch {
    return DEFAULTS;
  }
}

export function writeSettings(settings: PageSettings): void {
  localStorage.setItem(KEY, JSON.stringify(settings));
  applySettings();
}

/** The tokens read both from the root element. */
export function applySettings(): void {
  const { theme, density } = readSettings();
  document.documentElement.dataset.theme = theme;
  document.documentElement.dataset.density = density;
}
