import { Link } from "wouter";
import { useState } from "react";
import { PersonalDataService } from "@hlvm/proto/hlvm/memory/v1/personal_data_pb";
import { TranscriptService } from "@hlvm/proto/hlvm/memory/v1/transcript_pb";
import { useAction, useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { Button } from "../../parts/button.tsx";
import { saveAs } from "../../parts/save-as.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { RetentionForm } from "./retention-form.tsx";

/** How long memory keeps what is over, and what it holds of oneself: to be saved, and to be forgotten. */
export function MemorySection() {
  return (
    <section className={table.section} aria-labelledby="memory">
      <h2 id="memory">Memory</h2>
      <p>
        <Link href="/memory/sources">Sources</Link> are sessions with other agents; in the <Link href="/memory/inbox">inbox</Link> waits
        what was proposed.
      </p>
      <RetentionForm />
      <Export />
      <ImportedSessions />
      <p className={table.quiet}>
        To erase all that memory holds of you, for good, in a terminal: <code>hlvm memory person erase</code>
      </p>
    </section>
  );
}

function Export() {
  const client = useClient(PersonalDataService);
  const [count, setCount] = useState<number>();
  const save = useAction(async () => {
    const lines: string[] = [];
    let cursor = "";
    do {
      const { records, nextCursor } = await client.exportPersonalData({ cursor });
      for (const { kind, json } of records) lines.push(`{"type":${JSON.stringify(kind)},"record":${json}}\n`);
      setCount(lines.length);
      cursor = nextCursor;
    } while (cursor !== "");
    saveAs(`memory-${new Date().toISOString().slice(0, 10)}.ndjson`, new Blob(lines, { type: "application/x-ndjson" }));
  });
  return (
    <>
      <TroubleNote trouble={save.trouble} />
      <p>
        <Button disabled={save.isBusy} onClick={save.run}>
          Save my memory
        </Button>{" "}
        <span role="status" className={table.quiet}>
          {count === undefined ? "All that memory holds of you, one JSON object a line" : `${count} records`}
        </span>
      </p>
    </>
  );
}

/** By tool, from whichever machine they came. */
function ImportedSessions() {
  const client = useClient(TranscriptService);
  const { value, trouble, again } = useCall("imported", (signal) => client.listTranscriptSources({}, { signal }));
  const forget = useAction(async (tool: string) => {
    await client.forgetTranscripts({ tool });
    again();
  });
  const sessions = new Map<string, number>();
  for (const source of value?.sources ?? []) sessions.set(source.tool, (sessions.get(source.tool) ?? 0) + source.sessions);
  return (
    <>
      <h3>Imported sessions</h3>
      <TroubleNote trouble={trouble ?? forget.trouble} onAgain={again} />
      {value !== undefined && sessions.size === 0 ? <p className={table.quiet}>None. In a terminal: hlvm memory source list</p> : null}
      <ul aria-label="Imported sessions">
        {[...sessions].map(([tool, count]) => (
          <li key={tool} className={table.checked}>
            <p>
              {tool}: {count}
            </p>
            <p>
              <Button
                disabled={forget.isBusy}
                aria-label={`Forget all sessions of ${tool}`}
                onClick={() => confirm(`Take all sessions of ${tool} from memory, for good?`) && forget.run(tool)}
              >
                Forget all
              </Button>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}
