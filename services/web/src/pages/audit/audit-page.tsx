import { useSearchParams } from "wouter";
import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { Empty } from "../../parts/empty.tsx";
import { PageFrame } from "../../shell/page-frame.tsx";
import { ApprovedView } from "./approved-view.tsx";
import { AuditQuery } from "./audit-query.tsx";
import { addressOf, flagsOf, lineOf, questionOfAddress, readsWholeLog, type AuditQuestion } from "./audit-question.ts";
import { CallsView } from "./calls-view.tsx";
import { CountsView } from "./counts-view.tsx";
import { ExportButtons } from "./export-buttons.tsx";
import { TailView } from "./tail-view.tsx";
import { TimelineView } from "./timeline-view.tsx";
import styles from "./audit.module.css";

/** The views of a question, and the command that shows the same. */
const VIEWS: Readonly<Record<string, { readonly name: string; readonly command: (question: AuditQuestion) => string }>> = {
  calls: { name: "Calls", command: (question) => `query${flagsOf(question)}` },
  approved: { name: "Who approved", command: (question) => `who-approved${flagsOf(question)}` },
  touched: { name: "Touched", command: ({ path = "PATH", host, session, since }) => `touched ${path}${flagsOf({ host, session, since })}` },
  timeline: { name: "Session timeline", command: ({ session = "SESSION" }) => `timeline ${session}` },
  counts: { name: "Counts", command: (question) => `aggregate${flagsOf(question)}` },
  tail: { name: "Live tail", command: (question) => `tail${flagsOf({ ...question, since: undefined, until: undefined })}` },
};

/** On a phone the views are wider than the screen. */
function intoView(button: HTMLButtonElement | null): void {
  button?.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Who asked for what, who decided, and what came of it. The question is the address. */
export function AuditPage() {
  const [search, setSearch] = useSearchParams();
  const [found, setFound] = useState("");
  const [confirmed, setConfirmed] = useState("");
  const question = questionOfAddress(search);
  const view = search.get("view") ?? "calls";
  const ask = (asked: AuditQuestion, next = view): void =>
    setSearch((before) => {
      const address = addressOf(asked, before);
      if (next === "calls") address.delete("view");
      else address.set("view", next);
      return address;
    });
  const line = lineOf(question);
  const mustConfirm = view !== "tail" && view !== "timeline" && readsWholeLog(question) && confirmed !== line;
  const command = `hlvm audit ${(VIEWS[view] ?? VIEWS.calls!).command(question)}`;
  return (
    <PageFrame title="Audit" command={command} beside={<ExportButtons question={question} />}>
      <AuditQuery question={question} onQuestion={ask} found={found} />
      <div className={styles.views} role="group" aria-label="View">
        {Object.entries(VIEWS).map(([key, { name }]) => (
          <button
            key={key}
            ref={key === view ? intoView : undefined}
            type="button"
            aria-pressed={key === view}
            data-action={`Audit: ${name}`}
            data-key={key === "tail" ? "t" : undefined}
            onClick={() => ask(question, key)}
          >
            {name}
          </button>
        ))}
      </div>
      {mustConfirm ? (
        <Empty title="This reads the whole log">
          <p>Nothing narrows it in time, so it takes as long as the log is large.</p>
          <div className={styles.bounds}>
            {["1d", "7d", "30d"].map((since) => (
              <Button key={since} look={since === "7d" ? "primary" : undefined} onClick={() => ask({ ...question, since })}>
                Last {since}
              </Button>
            ))}
            <Button onClick={() => setConfirmed(line)}>Read all of it</Button>
          </div>
        </Empty>
      ) : view === "approved" ? (
        <ApprovedView question={question} onQuestion={ask} onFound={setFound} />
      ) : view === "timeline" ? (
        <TimelineView sessionId={question.session} onQuestion={ask} onFound={setFound} />
      ) : view === "counts" ? (
        <CountsView question={question} onQuestion={ask} onFound={setFound} />
      ) : view === "tail" ? (
        <TailView key={line} question={question} onQuestion={ask} onFound={setFound} />
      ) : view === "touched" && question.path === undefined && question.host === undefined ? (
        <Empty title="Which file, folder or host?" command="hlvm audit touched src/deploy.ts">
          <p>Write path:src/deploy.ts or host:example.com above. Calls that were refused are shown too.</p>
        </Empty>
      ) : (
        <CallsView question={question} onQuestion={ask} onFound={setFound} />
      )}
    </PageFrame>
  );
}
