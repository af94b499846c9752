import { enumWord } from "@hlvm/ndjson/enum-word";
import { ModelCapabilitySchema, ModelTierSchema, type ModelPrice } from "@hlvm/proto/hlvm/model/v1/model_pb";
import { CircleDashed } from "lucide-react";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../parts/empty.tsx";
import parts from "../../parts/parts.module.css";
import { Skeleton } from "../../parts/skeleton.tsx";
import { StateMark } from "../../parts/state-mark.tsx";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { PageFrame } from "../../shell/page-frame.tsx";
import { usePage } from "../../store/page-context.ts";

/** The models that can be asked, what they cost, and what to set for those that cannot. */
export function ModelsPage() {
  const { clients } = usePage();
  const { value, trouble, again } = useCall("models", (signal) => clients.models.listModels({}, { signal }));
  return (
    <PageFrame title="Models" command="hlvm model list">
      <TroubleNote trouble={trouble} onAgain={again} />
      {value === undefined ? (
        trouble === undefined ? (
          <Skeleton rows={5} />
        ) : null
      ) : value.models.length === 0 ? (
        <Empty title="There is no model" command="hlvm model list" />
      ) : (
        <div className={table.scrolls} tabIndex={0} role="region" aria-label="Models">
          <table className={table.table}>
            <thead>
              <tr>
                <th scope="col">Model</th>
                <th scope="col">State</th>
                <th scope="col">Tier</th>
                <th scope="col">Can be</th>
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
              {value.models.map(({ id, tier, capability, contextWindow, default: isDefault, available, advice, prices }) => (
                <tr key={id}>
                  <td className={table.nowrap}>
                    {id} {isDefault ? <span className={parts.chip}>default</span> : null}
                  </td>
                  <td>
                    <StateMark tone={available ? "ok" : "plain"} icon={available ? undefined : CircleDashed}>
                      {available ? "available" : "not set up"}
                    </StateMark>
                  </td>
                  <td>{enumWord(ModelTierSchema, tier)}</td>
                  <td>{enumWord(ModelCapabilitySchema, capability).replaceAll("_", " ")}</td>
                  <td className={table.right}>{contextWindow === 0 ? "" : contextWindow.toLocaleString()}</td>
                  <td className={table.right}>{priceWord(prices.at(-1))}</td>
                  <td className={table.quiet}>{advice}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </PageFrame>
  );
}

/** Nano dollars a token are dollars a million tokens over a thousand. */
function priceWord(price: ModelPrice | undefined): string {
  const { input, output } = price?.rates ?? {};
  if (input === undefined || output === undefined) return "unknown";
  return `$${Number(input) / 1_000} / $${Number(output) / 1_000}`;
}
