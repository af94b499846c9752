import { Lock, OctagonAlert } from "lucide-react";
import type { Trouble } from "../api/clients.ts";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";
import parts from "./parts.module.css";

/** What went wrong, in a sentence, and what to do. */
export function TroubleNote({ trouble, onAgain }: { readonly trouble: Trouble | undefined; readonly onAgain?: () => void }) {
  if (trouble === undefined) return null;
  return (
    <div className={parts.trouble} role="alert">
      <Icon of={trouble.isRefused === true ? Lock : OctagonAlert} />
      <div>
        <p>{trouble.message}</p>
        {trouble.advice === "" ? null : <p className={parts.advice}>{trouble.advice}</p>}
      </div>
      {onAgain === undefined || trouble.isRefused === true ? null : <Button onClick={onAgain}>Try again</Button>}
    </div>
  );
}
