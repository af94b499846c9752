import { Copy, SquareTerminal } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { Icon } from "../parts/icon.tsx";
import parts from "../parts/parts.module.css";
import styles from "./shell.module.css";

/** The command that does the same in a terminal, to be copied. */
export function CommandMenu({ command }: { readonly command: string }) {
  const [copied, setCopied] = useState("");
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(command);
    setCopied(command);
  };
  return (
    <details className={parts.menu} data-menu>
      <summary className={`${parts.button} ${parts.bare}`} role="button" aria-label="The same in a terminal" title="The same in a terminal">
        <Icon of={SquareTerminal} />
      </summary>
      <div>
        <p className={parts.advice}>The same in a terminal:</p>
        <code className={styles.command}>{command}</code>
        <Button onClick={() => void copy()}>
          <Icon of={Copy} size={14} /> {copied === command ? "Copied" : "Copy"}
        </Button>
      </div>
    </details>
  );
}
