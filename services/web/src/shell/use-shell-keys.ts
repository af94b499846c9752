import { useEffect } from "react";
import { useLocation } from "wouter";
import { readSettings } from "../pages/settings/page-settings.ts";
import type { ShellDialog } from "./dialog-context.ts";
import { isField } from "./is-field.ts";
import { PLACES } from "./places.ts";

const GO_MILLISECONDS = 1_000;

/**
 * The keys of every page: `g` and the letter of a place, `j` and `k` through what is marked as a row, `/` to what is marked as its
 * filter, and letters that press what is marked with them. Never in a field, and not where they are switched off.
 */
export function useShellKeys(onDialog: (dialog: ShellDialog) => void): void {
  const [, navigate] = useLocation();
  useEffect(() => {
    let goAt = -Infinity;
    const onKey = (event: KeyboardEvent): void => {
      const { key, target } = event;
      if (key === "k" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        return onDialog("palette");
      }
      if (event.defaultPrevented || document.querySelector("dialog[open]") !== null) return;
      if (key === "Escape") return leave(target);
      if (event.ctrlKey || event.metaKey || event.altKey || isField(target) || !readSettings().hasKeys) return;
      const isGoing = event.timeStamp - goAt < GO_MILLISECONDS;
      goAt = key === "g" ? event.timeStamp : -Infinity;
      const place = isGoing ? PLACES.find((one) => one.key === key) : undefined;
      if (place !== undefined) return navigate(place.path);
      if (key === "?") return onDialog("keys");
      const wanted = key === "j" || key === "k" ? rowBeside(key === "j" ? 1 : -1) : key === "/" ? filter() : undefined;
      const pressed = wanted === undefined ? document.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`) : undefined;
      if (wanted === undefined && (pressed === null || pressed === undefined)) return;
      event.preventDefault();
      wanted?.focus();
      if (isField(pressed ?? null)) pressed?.focus();
      else pressed?.click();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [navigate, onDialog]);
}

/** Closes the menu that it is in, or leaves the field. */
function leave(target: EventTarget | null): void {
  const menu = document.querySelector<HTMLDetailsElement>("details[data-menu][open]");
  if (menu !== null) menu.open = false;
  else if (isField(target)) (target as HTMLElement).blur();
}

function rowBeside(step: number): HTMLElement | undefined {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const at = rows.indexOf(document.activeElement as HTMLElement);
  return rows[at === -1 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
}

function filter(): HTMLElement | undefined {
  return document.querySelector<HTMLElement>("main [data-filter]") ?? undefined;
}
