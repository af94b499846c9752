import { useCall } from "../api/use-call.ts";
import { usePage } from "../store/page-context.ts";
import styles from "./composer.module.css";

interface ModelSelectProps {
  /** Empty: the default. */
  readonly model: string;
  readonly onModel: (model: string) => void;
}

export function ModelSelect({ model, onModel }: ModelSelectProps) {
  const { clients } = usePage();
  const { value } = useCall("models", (signal) => clients.models.listModels({}, { signal }));
  const names = (value?.models ?? []).filter(({ available }) => available).map(({ id }) => id);
  return (
    <select className={styles.field} aria-label="Model" value={model} onChange={(event) => onModel(event.target.value)}>
      <option value="">default model</option>
      <option value="auto">auto: fits what is asked</option>
      {[...new Set([...names, ...(model === "" || model === "auto" ? [] : [model])])].map((name) => (
        <option key={name} value={name}>
          {name}
        </option>
      ))}
    </select>
  );
}
