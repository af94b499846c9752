import { ApprovalAnswer, ApprovalKind, PermissionMode, type Approval, type ApprovalPreview } from "@hlvm/proto/hlvm/policy/v1/policy_pb";
import { SafetyLevel } from "@hlvm/proto/hlvm/tool/v1/tool_pb";
import { Eye } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useAction, useCall } from "../api/use-call.ts";
import { Button } from "../parts/button.tsx";
import { ChangedLines, RenderedLines } from "../parts/code-lines.tsx";
import { Icon } from "../parts/icon.tsx";
import { Markdown } from "../parts/markdown.tsx";
import parts from "../parts/parts.module.css";
import { TroubleNote } from "../parts/trouble-note.tsx";
import { readSettings } from "../pages/settings/page-settings.ts";
import { isField } from "../shell/is-field.ts";
import { usePage } from "../store/page-context.ts";
import styles from "./items.module.css";

const LONGEST_REASON = 1_000;

interface Answer {
  readonly answer: ApprovalAnswer;
  readonly text?: string;
  readonly mode?: PermissionMode;
  /** To an action: why. */
  readonly reason?: string;
}

/** What is asked, whole, and the buttons: the answer names the bytes that were shown. */
export function ApprovalQuestion({ approval: listed }: { readonly approval: Approval }) {
  const { clients, lists } = usePage();
  const { approvalId } = listed;
  const idempotencyKey = useIdempotencyKey();
  // What comes with a list or an event may be cut; this is whole.
  const whole = useCall(approvalId, (signal) => clients.policy.getApproval({ approvalId }, { signal }));
  const approval = whole.value?.approval ?? listed;
  const answering = useAction(async ({ answer, text = "", mode = PermissionMode.UNSPECIFIED, reason = "" }: Answer) => {
    const { argumentsHash, preview } = approval;
    const shown = { argumentsHash, previewHash: preview?.hash };
    await clients.policy.answerApproval({ approvalId, answer, text, mode, reason, ...shown, idempotencyKey: idempotencyKey(answer) });
    lists.forgetApproval(approvalId);
  });
  const question = { approval, isBusy: answering.isBusy, onAnswer: answering.run };
  return (
    <div className={styles.askedBody} onKeyDown={pressKey}>
      <TroubleNote trouble={whole.trouble ?? answering.trouble} onAgain={whole.trouble === undefined ? undefined : whole.again} />
      {approval.kind === ApprovalKind.QUESTION ? (
        <Clarification {...question} />
      ) : approval.kind === ApprovalKind.PLAN ? (
        <Plan {...question} />
      ) : (
        <Action {...question} isWhole={whole.value !== undefined} />
      )}
    </div>
  );
}

interface QuestionProps {
  readonly approval: Approval;
  readonly isBusy: boolean;
  readonly onAnswer: (answer: Answer) => void;
}

function Action({ approval, isBusy, onAnswer, isWhole }: QuestionProps & { readonly isWhole: boolean }) {
  const { rendering, preview, reason, safetyLevel, tool, notAnswerable } = approval;
  const [why, setWhy] = useState("");
  const [end, isSeen] = useSeen(rendering?.lines.length ?? 0);
  const omitted = rendering?.omittedCharacters ?? 0;
  const mustSee = safetyLevel !== SafetyLevel.L0 && safetyLevel !== SafetyLevel.L1;
  const canSayYes = isWhole && notAnswerable === "" && rendering !== undefined && omitted === 0 && (isSeen || !mustSee) && !isBusy;
  return (
    <>
      {rendering === undefined ? null : <RenderedLines lines={rendering.lines} end={end} />}
      {omitted === 0 ? null : (
        <p className={parts.warn}>{omitted.toLocaleString()} characters are left out at the end, so nobody can say yes to this here.</p>
      )}
      {preview === undefined ? null : <WhatChanges preview={preview} />}
      <dl className={parts.pairs}>
        <dt>Why asked</dt>
        <dd>{reason}</dd>
        <dt>For this session</dt>
        <dd>covers every later call of {tool} at this level or below in this session, destructive ones excepted</dd>
      </dl>
      {notAnswerable === "" ? null : <p className={parts.warn}>{notAnswerable}</p>}
      <input
        className={styles.why}
        aria-label="Why, which the model reads when it is denied"
        placeholder="Reason, which the model reads when you deny"
        maxLength={LONGEST_REASON}
        value={why}
        onChange={(event) => setWhy(event.target.value)}
      />
      <div className={styles.buttons} data-answers="action">
        <Button look="primary" shortcut="y" disabled={!canSayYes} onClick={() => onAnswer({ answer: ApprovalAnswer.ONCE, reason: why })}>
          Approve once
        </Button>
        <Button shortcut="s" disabled={!canSayYes} onClick={() => onAnswer({ answer: ApprovalAnswer.SESSION, reason: why })}>
          For this session
        </Button>
        <Button shortcut="n" disabled={isBusy} onClick={() => onAnswer({ answer: ApprovalAnswer.DENY, reason: why })}>
          Deny
        </Button>
        {rendering === undefined ? null : (
          <span className={`${parts.state} ${styles.seen}`}>
            <Icon of={Eye} size={14} />
            {isSeen ? seenWord(rendering.lines.length) : "scroll to its end"}
          </span>
        )}
      </div>
    </>
  );
}

/** Of a file that is written, as it was when this was asked; the answer holds for that file and no other. */
function WhatChanges({ preview: { present, presentBytes, lines, omittedCharacters } }: { readonly preview: ApprovalPreview }) {
  if (!present) return <p className={parts.advice}>The file is new.</p>;
  const bytes = `the ${presentBytes.toLocaleString()} bytes that are there now`;
  if (lines.length === 0) return <p className={parts.advice}>It takes the place of {bytes}.</p>;
  return (
    <>
      <p className={parts.advice}>What changes in {bytes}:</p>
      <ChangedLines lines={lines} />
      {omittedCharacters === 0 ? null : (
        <p className={parts.warn}>{omittedCharacters.toLocaleString()} more characters are left out here.</p>
      )}
    </>
  );
}

function Clarification({ approval, isBusy, onAnswer }: QuestionProps) {
  const [text, setText] = useState("");
  const { question, choices } = argumentsOf(approval);
  return (
    <>
      <Markdown text={question} isOpen={false} />
      <p className={parts.advice}>Whatever you answer allows nothing.</p>
      {choices.length === 0 ? null : (
        <div className={styles.buttons}>
          {choices.map((choice) => (
            <Button key={choice} disabled={isBusy} onClick={() => onAnswer({ answer: ApprovalAnswer.ONCE, text: choice })}>
              {choice}
            </Button>
          ))}
        </div>
      )}
      <textarea className={styles.answer} aria-label="Your answer" value={text} onChange={(event) => setText(event.target.value)} />
      <div className={styles.buttons} data-answers>
        <Button look="primary" disabled={isBusy || text.trim() === ""} onClick={() => onAnswer({ answer: ApprovalAnswer.ONCE, text })}>
          Answer
        </Button>
        <Button disabled={isBusy} onClick={() => onAnswer({ answer: ApprovalAnswer.DENY })}>
          Do not answer
        </Button>
      </div>
    </>
  );
}

function Plan({ approval, isBusy, onAnswer }: QuestionProps) {
  const [text, setText] = useState(() => argumentsOf(approval).plan);
  const accept = (mode: PermissionMode): void => onAnswer({ answer: ApprovalAnswer.ONCE, text, mode });
  return (
    <>
      <textarea
        className={styles.answer}
        aria-label="The plan, which you may change"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div className={styles.buttons} data-answers>
        <Button look="primary" disabled={isBusy || text.trim() === ""} onClick={() => accept(PermissionMode.ACCEPT_EDITS)}>
          Accept, edits allowed
        </Button>
        <Button disabled={isBusy || text.trim() === ""} onClick={() => accept(PermissionMode.DEFAULT)}>
          Accept, ask each time
        </Button>
        <Button disabled={isBusy} onClick={() => onAnswer({ answer: ApprovalAnswer.DENY })}>
          Reject
        </Button>
      </div>
    </>
  );
}

/** One for each answer that may be given, so that an answer whose response was lost can be sent again. */
function useIdempotencyKey(): (answer: ApprovalAnswer) => string {
  const keys = useRef(new Map<ApprovalAnswer, string>());
  return (answer) => {
    const key = keys.current.get(answer) ?? crypto.randomUUID();
    keys.current.set(answer, key);
    return key;
  };
}

function seenWord(lines: number): string {
  return lines === 1 ? "its only line seen" : `all ${lines} lines seen`;
}

/** The keys of the buttons, where the question has the focus and no field in it. */
function pressKey(event: KeyboardEvent<HTMLElement>): void {
  const { key, ctrlKey, metaKey, altKey, repeat, target, currentTarget } = event;
  if (ctrlKey || metaKey || altKey || repeat || isField(target) || !/^[ysn]$/.test(key) || !readSettings().hasKeys) return;
  event.stopPropagation();
  currentTarget.querySelector<HTMLButtonElement>(`[aria-keyshortcuts="${key}"]`)?.click();
}

/** Whether the end of what is shown has been on the screen. */
function useSeen(lines: number) {
  const end = useRef<HTMLSpanElement>(null);
  const [isSeen, setIsSeen] = useState(false);
  useEffect(() => {
    if (end.current === null || isSeen) return;
    const observer = new IntersectionObserver((entries) => entries.some(({ isIntersecting }) => isIntersecting) && setIsSeen(true));
    observer.observe(end.current);
    return () => observer.disconnect();
  }, [lines, isSeen]);
  return [end, isSeen] as const;
}

function argumentsOf({ argumentsJson }: Approval): {
  readonly question: string;
  readonly choices: readonly string[];
  readonly plan: string;
} {
  const { question, choices, plan } = JSON.parse(argumentsJson) as Record<string, unknown>;
  return {
    question: typeof question === "string" ? question : "",
    choices: Array.isArray(choices) ? choices.filter((choice) => typeof choice === "string") : [],
    plan: typeof plan === "string" ? plan : "",
  };
}
