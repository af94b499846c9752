/**
 * Whether somebody writes there: no single letter is a command then. A field of a dialog that was just closed has the focus until
 * the page is painted again.
 */
export function isField(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || target.closest("dialog:not([open])") !== null) return false;
  return target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
