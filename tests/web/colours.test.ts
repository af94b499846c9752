import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { repositoryRoot } from "../e2e/test-mesh.ts";

const source = readFileSync(join(repositoryRoot, "services", "web", "src", "styles", "tokens.css"), "utf8");

type Colour = readonly [number, number, number];

/** `--bg: light-dark(#fcfcfd, #0f1115);` */
const TOKENS = new Map(
  [...source.matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);/g)].map(
    ([, name, light, dark]) => [name!, { light: light!, dark: dark! }] as const,
  ),
);
const GROUNDS = ["bg", "surface", "sunken"];

function colour(name: string, theme: "light" | "dark"): Colour {
  const hex = TOKENS.get(name)![theme];
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as unknown as Colour;
}

/** As WCAG 2.2 defines it. */
function luminance(parts: Colour): number {
  const [red, green, blue] = parts.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as unknown as Colour;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

function mixed(one: Colour, share: number, other: Colour): Colour {
  return one.map((part, at) => part * share + other[at]! * (1 - share)) as unknown as Colour;
}

describe.each(["light", "dark"] as const)("the colours of the theme %s", (theme) => {
  const least = (name: string): number => Math.min(...GROUNDS.map((ground) => contrast(colour(name, theme), colour(ground, theme))));

  it.each(["text", "text-2", "text-3", "accent", "ok", "warn", "danger", "info", "doubt"])("let %s be read on every ground", (name) => {
    expect(least(name)).toBeGreaterThanOrEqual(4.5);
  });

  it("let the edge of a field be seen", () => {
    expect(least("edge")).toBeGreaterThanOrEqual(3);
  });

  it("let the primary button, the count and a chosen row be read", () => {
    expect(contrast(colour("on-accent", theme), colour("accent", theme))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(colour("surface", theme), colour("warn", theme))).toBeGreaterThanOrEqual(4.5);
    const chosen = mixed(colour("accent", theme), 0.08, colour("bg", theme));
    expect(contrast(colour("text-2", theme), chosen)).toBeGreaterThanOrEqual(4.5);
  });
});
