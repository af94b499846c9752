import { useEffect, useRef } from "react";
import { useLocation } from "wouter";
import { Button } from "../parts/button.tsx";
import parts from "../parts/parts.module.css";
import { keysAt } from "./page-keys.ts";
import styles from "./palette.module.css";

/** What keys do on this page. */
export function KeysDialog({ onClose }: { readonly onClose: () => void }) {
  const [location] = useLocation();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className={styles.keys} aria-labelledby="keys-title" onClose={onClose}>
      <h2 id="keys-title">Keys of this page</h2>
      <dl className={parts.pairs}>
        {keysAt(location).map(([keys, what]) => [
          <dt key={keys}>
            <kbd>{keys}</kbd>
          </dt>,
          <dd key={what}>{what}</dd>,
        ])}
      </dl>
      <p className={parts.advice}>Single letters can be switched off in the settings.</p>
      <Button onClick={onClose}>Close</Button>
    </dialog>
  );
}
