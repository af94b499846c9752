import { WikiService } from "@hlvm/proto/hlvm/memory/v1/wiki_pb";
import { Link } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { useClient } from "../../api/use-client.ts";
import { shownProse } from "../../parts/shown-text.ts";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import type { HrefOf } from "./wiki-view.tsx";
import styles from "./wiki.module.css";

/** What is wrong in the pages, seen together. */
export function WikiFindings({ project, hrefOf }: { readonly project: string; readonly hrefOf: HrefOf }) {
  const wiki = useClient(WikiService);
  const { value, trouble, again } = useCall(`lint ${project}`, (signal) => wiki.lintWiki({ project }, { signal }));
  if (trouble !== undefined) return <TroubleNote trouble={trouble} onAgain={again} />;
  if (value === undefined || value.findings.length === 0) return null;
  return (
    <section>
      <h2>To mend</h2>
      <ul className={styles.list} aria-label="Findings">
        {value.findings.map(({ name, scope, line, rule, message }, at) => (
          <li key={at} className={styles.finding}>
            <Link href={hrefOf({ page: name, scope })}>{line === 0 ? name : `${name}:${line}`}</Link>
            <span>{shownProse(message)}</span>
            <small>{rule}</small>
          </li>
        ))}
      </ul>
    </section>
  );
}
