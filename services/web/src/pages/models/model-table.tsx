import { timestampMs } from "@bufbuild/protobuf/wkt";
import { enumWord } from "@hlvm/ndjson/enum-word";
import { ModelCapabilitySchema, ModelTierSchema, type Model } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CircleDashed } from "lucide-react";
import { Link } from "wouter";
import { Empty } from "../../parts/empty.tsx";
import parts from "../../parts/parts.module.css";
import { shownProse } from "../../parts/shown-text.ts";
import { StateMark } from "../../parts/state-mark.tsx";
import table from "../../parts/table.module.css";
import styles from "./models.module.css";

/** What each model is for and costs, and what to set for those that cannot be asked. */
export function ModelTable({ models }: { readonly models: readonly Model[] }) {
  if (models.length === 0)
    return (
      <Empty title="There is no model" command="hlvm model list">
        <p>Either none is permitted here, or the model gateway has none: ANTHROPIC_API_KEY, OPENAI_API_KEY or HLVM_LLAMA_URLS give some.</p>
      </Empty>
    );
  return (
    <div className={table.scrolls} tabIndex={0} role="region" aria-label="Models">
      <table className={table.table}>
        <thead>
          <tr>
            <th scope="col">Model</th>
            <th scope="col">State</th>
            <th scope="col">Tier</th>
            <th scope="col">Can be</th>
            <th scope="col">Takes</th>
            <th scope="col" className={table.right}>
              Window
            </th>
            <th scope="col" className={table.right}>
              Price, in / out a million
            </th>
            <th scope="col">What to set</th>
          </tr>
        </thead>
        <tbody>
          {models.map((model) => (
            <ModelRow key={model.id} model={model} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ModelRow({ model }: { readonly model: Model }) {
  const { id, provider, tier, capability, contextWindow, available, advice, guessed, takesImages, takesDocuments } = model;
  return (
    <tr>
      <td className={table.nowrap}>
        {shownProse(id)} {model.default ? <span className={parts.chip}>default</span> : null}
      </td>
      <td>
        <StateMark tone={available ? "ok" : "plain"} icon={available ? undefined : CircleDashed}>
          {available ? "available" : "not set up"}
        </StateMark>
      </td>
      <td>{enumWord(ModelTierSchema, tier)}</td>
      <td className={table.nowrap}>
        {enumWord(ModelCapabilitySchema, capability).replaceAll("_", " ")}
        {guessed ? <span className={table.quiet}>, a guess</span> : null}
      </td>
      <td className={table.nowrap}>{["text", ...(takesImages ? ["images"] : []), ...(takesDocuments ? ["PDF"] : [])].join(", ")}</td>
      <td className={table.right}>{contextWindow === 0 ? "" : contextWindow.toLocaleString()}</td>
      <td className={`${table.right} ${table.nowrap}`}>{priceWord(model)}</td>
      <td className={`${table.quiet} ${styles.advice}`}>
        {advice}
        {available && provider === "llama" ? <Link href="/models?view=pool">its servers</Link> : null}
      </td>
    </tr>
  );
}

/** As of now. Nano-dollars a token are dollars a million tokens over a thousand. */
function priceWord({ prices }: Model): string {
  const now = prices.findLast(({ validFrom }) => validFrom !== undefined && timestampMs(validFrom) <= Date.now());
  if (now?.rates === undefined) return "unknown";
  return `$${Number(now.rates.input) / 1_000} / $${Number(now.rates.output) / 1_000}`;
}
