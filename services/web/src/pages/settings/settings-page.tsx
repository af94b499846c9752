import { Fragment, useState } from "react";
import { Link } from "wouter";
import { SandboxService } from "@hlvm/proto/hlvm/sandbox/v1/sandbox_pb";
import { useClient } from "../../api/use-client.ts";
import { useCall } from "../../api/use-call.ts";
import parts from "../../parts/parts.module.css";
import { StateMark } from "../../parts/state-mark.tsx";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import table from "../../parts/table.module.css";
import { PageFrame } from "../../shell/page-frame.tsx";
import { PAGE_KEYS } from "../../shell/page-keys.ts";
import { PLACES } from "../../shell/places.ts";
import { usePage } from "../../store/page-context.ts";
import { MemorySection } from "./memory-section.tsx";
import { DENSITIES, readSettings, THEMES, writeSettings, type PageSettings } from "./page-settings.ts";

/** How the page looks in this browser, and whether the mesh has all that it needs. */
export function SettingsPage() {
  const [settings, setSettings] = useState(readSettings);
  const change = (changes: Partial<PageSettings>): void => {
    const changed = { ...settings, ...changes };
    writeSettings(changed);
    setSettings(changed);
  };
  return (
    <PageFrame title="Settings" command="hlvm doctor">
      <section className={table.section}>
        <h2>This browser</h2>
        <Choice name="Theme" values={THEMES} chosen={settings.theme} onChoose={(theme) => change({ theme })} />
        <Choice name="Density" values={DENSITIES} chosen={settings.density} onChoose={(density) => change({ density })} />
        <fieldset className={table.choices}>
          <legend className={parts.visuallyHidden}>Keys</legend>
          <label>
            <input type="checkbox" checked={settings.hasKeys} onChange={(event) => change({ hasKeys: event.target.checked })} />
            Single letters do something
          </label>
        </fieldset>
      </section>
      <Doctor />
      <MemorySection />
      <section className={table.section}>
        <h2>Programs and people</h2>
        <p>
          <Link href="/settings/tokens">Tokens</Link> let programs act in your name. <Link href="/people">People</Link> says who may what.
        </p>
      </section>
      <section className={table.section}>
        <h2>Keys</h2>
        <dl className={parts.pairs}>
          {PAGE_KEYS.map(([keys, what, path]) => (
            <Fragment key={`${keys} ${path}`}>
              <dt>{keys}</dt>
              <dd>
                {what}
                {path === "" ? "" : ` (${PLACES.find((place) => place.path === path)?.name.toLowerCase() ?? "session"})`}
              </dd>
            </Fragment>
          ))}
        </dl>
      </section>
    </PageFrame>
  );
}

interface ChoiceProps<Value extends string> {
  readonly name: string;
  readonly values: readonly Value[];
  readonly chosen: Value;
  readonly onChoose: (value: Value) => void;
}

function Choice<Value extends string>({ name, values, chosen, onChoose }: ChoiceProps<Value>) {
  return (
    <fieldset className={table.choices}>
      <legend>{name}</legend>
      {values.map((value) => (
        <label key={value}>
          <input type="radio" name={name} checked={value === chosen} onChange={() => onChoose(value)} />
          {value}
        </label>
      ))}
    </fieldset>
  );
}

function Doctor() {
  const { clients } = usePage();
  const sandbox = useClient(SandboxService);
  const isolation = useCall("isolation", (signal) => sandbox.describeIsolation({}, { signal }));
  const models = useCall("models", (signal) => clients.models.listModels({}, { signal }));
  const usable = models.value?.models.filter(({ available }) => available) ?? [];
  return (
    <section className={table.section}>
      <h2>Doctor</h2>
      <TroubleNote trouble={isolation.trouble} onAgain={isolation.again} />
      <TroubleNote trouble={models.trouble} onAgain={models.again} />
      <ul>
        {models.value === undefined ? null : (
          <li className={table.checked}>
            <p>
              <StateMark tone={usable.length > 0 ? "ok" : "danger"}>Models</StateMark>
            </p>
            <p>{usable.length === 0 ? "None is set up: the page Models says what to set." : `${usable.length} can be asked`}</p>
          </li>
        )}
        {isolation.value?.features.map(({ name, active, detail }) => (
          <li key={name} className={table.checked}>
            <p>
              <StateMark tone={active ? "ok" : "warn"}>{name}</StateMark>
            </p>
            <p>{detail}</p>
          </li>
        ))}
      </ul>
      <p className={table.quiet}>
        Isolation by {isolation.value?.driver} {isolation.value?.driverVersion}. In a terminal: <code>hlvm doctor</code>
      </p>
    </section>
  );
}
