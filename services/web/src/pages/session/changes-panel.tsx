import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../parts/empty.tsx";
import { HunkLines } from "../../parts/hunk-lines.tsx";
import parts from "../../parts/parts.module.css";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { diffOf, type FileDiff } from "./file-diff.ts";
import styles from "./session.module.css";

/** More open at once is no overview. */
const OPENED_FILES = 5;

/** What the session has changed in its workspace, file by file. */
export function ChangesPanel({ sessionId, version }: { readonly sessionId: string; readonly version: number }) {
  const sandbox = useClient(SandboxService);
  const { value, trouble, again } = useCall(`${sessionId} ${version}`, async (signal) => {
    const changes = await sandbox.getChanges({ sessionId, anyWorkspace: true }, { signal });
    return { files: changes.files.map(diffOf), further: changes.furtherChanges + changes.leftOut.length + changes.leftOutChanges.length };
  });
  if (trouble !== undefined) return <TroubleNote trouble={trouble} onAgain={again} />;
  if (value === undefined) return <Skeleton rows={4} />;
  const { files, further } = value;
  if (files.length === 0 && further === 0)
    return <Empty title="No file has changed" command={`hlvm session diff ${sessionId.slice(0, 8)}…`} />;
  const sum = (of: (file: FileDiff) => number): number => files.reduce((total, file) => total + of(file), 0);
  return (
    <>
      <div className={styles.bar}>
        <strong>
          {files.length} file{files.length === 1 ? "" : "s"}
        </strong>
        <Tallies added={sum(({ added }) => added)} removed={sum(({ removed }) => removed)} />
        <span>since the start</span>
      </div>
      {files.map((file, at) => (
        <details key={file.path} className={styles.file} open={at < OPENED_FILES}>
          <summary>
            <span title={file.path}>{file.path}</span>
            <Tallies added={file.added} removed={file.removed} />
          </summary>
          {file.note === "" ? <HunkLines hunks={file.hunks} /> : <p className={styles.note}>{file.note}</p>}
        </details>
      ))}
      {further === 0 ? null : <p className={styles.note}>{further} more changes are not shown: they are too large, or no files.</p>}
    </>
  );
}

function Tallies({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className={styles.tallies}>
      <span className={parts.ok}>+{added}</span>
      <span className={parts.danger}>−{removed}</span>
    </span>
  );
}
