import type { ReactNode } from "react";
import parts from "./parts.module.css";

/** What this is for, the one thing to do, and the command that does the same. */
export function Empty({ title, command, children }: { readonly title: string; readonly command?: string; readonly children?: ReactNode }) {
  return (
    <div className={parts.empty}>
      <h2>{title}</h2>
      {children}
      {command === undefined ? null : <code>{command}</code>}
    </div>
  );
}
