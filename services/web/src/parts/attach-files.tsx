import { Paperclip, X } from "lucide-react";
import { useRef } from "react";
import type { Attachments } from "./attachments.ts";
import { Button } from "./button.tsx";
import composer from "./composer.module.css";
import { Icon } from "./icon.tsx";
import parts from "./parts.module.css";

/** Opens the choice of files, in the bar of a composer. */
export function AttachButton({ attachments }: { readonly attachments: Attachments }) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={field}
        className={parts.visuallyHidden}
        type="file"
        multiple
        tabIndex={-1}
        aria-label="Attach files"
        onChange={(event) => {
          attachments.add(event.target.files ?? []);
          event.target.value = "";
        }}
      />
      <Button
        look="bare"
        data-action="Attach files"
        aria-label="Attach files …"
        title="Text, PNG, JPEG, WebP, PDF"
        onClick={() => field.current?.click()}
      >
        <Icon of={Paperclip} size={14} />
      </Button>
    </>
  );
}

/** The files that will go along, each of which can be left out. */
export function AttachedFiles({ attachments: { files, problem, remove } }: { readonly attachments: Attachments }) {
  return (
    <>
      {files.length === 0 ? null : (
        <ul className={composer.files}>
          {files.map((file, at) => (
            <li key={at} className={parts.chip}>
              {file.path}
              <button type="button" aria-label={`Without ${file.path ?? ""}`} onClick={() => remove(file)}>
                <Icon of={X} size={14} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {problem === "" ? null : (
        <p className={`${composer.problem} ${parts.danger}`} role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
