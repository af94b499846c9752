import { Activity, ArrowRight, MessageSquarePlus, MessagesSquare, type LucideIcon } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useLocation } from "wouter";
import { Icon } from "../parts/icon.tsx";
import { folderName } from "../parts/words.ts";
import { useLists } from "../store/list-store.ts";
import { usePage } from "../store/page-context.ts";
import { PLACES } from "./places.ts";
import styles from "./palette.module.css";

const MOST_SESSIONS = 8;

interface Entry {
  readonly icon: LucideIcon;
  readonly text: string;
  readonly hint: string;
  readonly act: () => void;
}

/** Go to, act on what is in view, switch to another session, or ask. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const { sessions } = useLists(usePage().lists);
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState(0);
  const [actions] = useState(actionsInView);
  useEffect(() => dialog.current?.showModal(), []);
  const places = PLACES.map(({ name, path, key }): Entry => ({
    icon: ArrowRight,
    text: name,
    hint: `g ${key}`,
    act: () => navigate(path),
  }));
  const fits = (entry: Entry): boolean => words(text).every((word) => entry.text.toLowerCase().includes(word));
  const switches = (sessions ?? [])
    .map(({ sessionId, title, workspace }): Entry => {
      return { icon: MessagesSquare, text: title, hint: folderName(workspace), act: () => navigate(`/s/${sessionId}`) };
    })
    .filter(fits)
    .slice(0, MOST_SESSIONS);
  const ask: Entry = {
    icon: MessageSquarePlus,
    text: text.trim() === "" ? "Ask something" : `Ask: ${text.trim()}`,
    hint: "c",
    act: () => navigate(`/?${new URLSearchParams({ prompt: text.trim() }).toString()}`),
  };
  const entries = [...actions.filter(fits), ...places.filter(fits), ...switches, ask];
  const at = Math.min(chosen, entries.length - 1);
  const choose = (entry: Entry): void => {
    // Closed first: what it does may move the focus.
    onClose();
    entry.act();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setChosen((at + step + entries.length) % entries.length);
    }
    if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      choose(entries[at]!);
    }
  };
  return (
    <dialog
      ref={dialog}
      className={styles.palette}
      aria-label="Go to or act"
      onClose={onClose}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <input
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={`palette-${at}`}
        aria-label="Go to, act, switch session or ask"
        placeholder="Go to, act, switch session or ask"
        autoFocus
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-entries" role="listbox" aria-label="What can be done" tabIndex={-1}>
        {entries.map((entry, index) => (
          <div
            key={index}
            id={`palette-${index}`}
            ref={index === at ? (element) => element?.scrollIntoView({ block: "nearest" }) : undefined}
            role="option"
            aria-selected={index === at}
            onClick={() => choose(entry)}
          >
            <Icon of={entry.icon} />
            <span>{entry.text}</span>
            <span>{entry.hint}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}

/** What is marked as an action, wherever on the page it stands; its text is its name. */
function actionsInView(): Entry[] {
  return [...document.querySelectorAll<HTMLElement>("[data-action]")].map((element) => ({
    icon: Activity,
    text: element.dataset.action || element.textContent.trim(),
    hint: element.dataset.key ?? "",
    act: () => element.click(),
  }));
}

function words(text: string): string[] {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}
