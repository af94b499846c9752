import { timestampDate } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { FactOriginSchema, FactScopeSchema, FactTypeSchema, type Fact } from "@hlvm/proto/hlvm/memory/v1/memory_pb";
import { Fragment, type ReactNode } from "react";
import { Link } from "wouter";
import parts from "../../parts/parts.module.css";
import { shownProse } from "../../parts/shown-text.ts";
import { folderName, personName } from "../../parts/words.ts";
import { factState } from "./fact-rows.tsx";

const DATE = new Intl.DateTimeFormat("en", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  hour12: false,
});

/** What is known of a fact besides its text. */
export function FactPairs({ fact }: { readonly fact: Fact }) {
  const { subject, predicate, type, scope, origin, project, writtenBy, sourceSessionId, validFrom, validTo, category, tags } = fact;
  const { foundSubject, foundPredicate } = fact;
  const from = validFrom === undefined ? "" : DATE.format(timestampDate(validFrom));
  const to = validTo === undefined ? "" : DATE.format(timestampDate(validTo));
  const pairs: Readonly<Record<string, ReactNode>> = {
    State: factState(fact),
    Subject: shownProse(subject),
    Predicate: shownProse(predicate),
    "A model finds": foundSubject === "" ? "" : shownProse(`${foundSubject}: ${foundPredicate}`),
    Scope: project === "" ? enumWord(FactScopeSchema, scope) : `project ${folderName(project)}`,
    Type: enumWord(FactTypeSchema, type),
    Category: shownProse([category, ...tags].filter(Boolean).join(", ")),
    Origin: `${enumWord(FactOriginSchema, origin).replaceAll("_", " ")}, by ${personName(writtenBy)}`,
    Valid: to === "" ? `since ${from}` : `${from} to ${to}`,
    Session: sourceSessionId === "" ? "" : <Link href={`/s/${sourceSessionId}`}>{sourceSessionId.slice(0, 8)}</Link>,
  };
  return (
    <dl className={parts.pairs}>
      {Object.entries(pairs)
        .filter(([, value]) => value !== "")
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
