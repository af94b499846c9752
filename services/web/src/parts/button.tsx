import type { ButtonHTMLAttributes, ReactNode } from "react";
import parts from "./parts.module.css";

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: "primary" | "bare";
  /** The key that does the same. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

export function Button({ look, shortcut, children, className, ...rest }: ButtonProps) {
  const classes = [parts.button, look === undefined ? "" : parts[look], className].filter(Boolean).join(" ");
  return (
    <button type="button" className={classes} aria-keyshortcuts={shortcut} {...rest}>
      {children}
      {shortcut === undefined ? null : (
        <kbd className={parts.key} aria-hidden="true">
          {shortcut}
        </kbd>
      )}
    </button>
  );
}
