import { AuditService } from "@hlvm/proto/hlvm/audit/v1/audit_pb";
import { FileDown } from "lucide-react";
import { useState } from "react";
import { useClient } from "../../api/use-client.ts";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import parts from "../../parts/parts.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import type { AuditQuestion } from "./audit-question.ts";
import type { AuditFormat } from "./save-events.ts";

/** All that fits as a file, whatever of it is shown. */
export function ExportButtons({ question }: { readonly question: AuditQuestion }) {
  const audit = useClient(AuditService);
  const [count, setCount] = useState<number | undefined>(undefined);
  const [note, setNote] = useState("");
  const action = useAction(async (format: AuditFormat) => {
    setNote("");
    // It brings the description of the contract with it, which nothing else of the page needs.
    const { saveEvents } = await import("./save-events.ts");
    const { written, hasMore } = await saveEvents(audit, question, format, setCount);
    setCount(undefined);
    if (hasMore) setNote(`The newest ${written.toLocaleString()} are in the file; \`hlvm audit export\` writes all.`);
  });
  return (
    <details className={parts.menu} data-menu>
      <summary className={parts.button} role="button" data-action="Export" data-key="e">
        <Icon of={FileDown} size={14} /> Export
      </summary>
      <div>
        <Button look="bare" disabled={action.isBusy} onClick={() => action.run("csv")}>
          CSV, for a spreadsheet
        </Button>
        <Button look="bare" disabled={action.isBusy} onClick={() => action.run("ndjson")}>
          NDJSON, for a program
        </Button>
        {action.isBusy && count !== undefined ? <p role="status">{count.toLocaleString()} read</p> : null}
        {note === "" ? null : <p role="status">{note}</p>}
        <TroubleNote trouble={action.trouble} />
      </div>
    </details>
  );
}
