import { useState } from "react";
import { useSearchParams } from "wouter";
import { useCall } from "../../api/use-call.ts";
import { Skeleton } from "../../parts/skeleton.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { shellWord } from "../../parts/shell-word.ts";
import { PageFrame } from "../../shell/page-frame.tsx";
import { usePage } from "../../store/page-context.ts";
import { ExplainView, type RouteQuestion } from "./explain-view.tsx";
import { KeysView } from "./keys-view.tsx";
import { ModelTable } from "./model-table.tsx";
import styles from "./models.module.css";
import { PoolView } from "./pool-view.tsx";

const VIEWS = { models: "Models", explain: "Try a task", pool: "Pool", keys: "Keys" } as const;
type View = keyof typeof VIEWS;
const NOTHING_ASKED: RouteQuestion = { route: "auto", task: "", needs: ["tools"] };

/** The models that can be asked, which one a route takes for a task, the servers of the pool, and keys for providers. */
export function ModelsPage() {
  const { clients } = usePage();
  const [search, setSearch] = useSearchParams();
  const wanted = search.get("view") ?? "";
  const view: View = Object.hasOwn(VIEWS, wanted) ? (wanted as View) : "models";
  // The words of a task stand in no address.
  const [question, setQuestion] = useState(NOTHING_ASKED);
  const { value, trouble, again } = useCall("models", (signal) => clients.models.listModels({}, { signal }));
  return (
    <PageFrame title="Models" command={commandOf(view, question)}>
      <div className={styles.views} role="group" aria-label="View">
        {(Object.keys(VIEWS) as View[]).map((key) => (
          <button
            key={key}
            type="button"
            aria-pressed={key === view}
            data-action={`Models: ${VIEWS[key]}`}
            data-key={key === "explain" && view !== key ? "t" : undefined}
            onClick={() => setSearch(key === "models" ? {} : { view: key })}
          >
            {VIEWS[key]}
          </button>
        ))}
      </div>
      {view === "pool" ? (
        <PoolView />
      ) : view === "keys" ? (
        <KeysView />
      ) : (
        <>
          <TroubleNote trouble={trouble} onAgain={again} />
          {value === undefined ? (
            trouble === undefined ? (
              <Skeleton rows={5} />
            ) : null
          ) : view === "models" ? (
            <ModelTable models={value.models} />
          ) : (
            <ExplainView routes={value.routes} question={question} onQuestion={setQuestion} />
          )}
        </>
      )}
    </PageFrame>
  );
}

function commandOf(view: View, { route, task }: RouteQuestion): string {
  if (view === "models") return "hlvm model list";
  if (view === "pool") return "hlvm model pool";
  if (view === "keys") return "hlvm model key list";
  const flag = route === "auto" ? "" : ` --route ${shellWord(route.slice("route/".length))}`;
  return `hlvm model explain ${shellWord(task || "a task")}${flag}`;
}
