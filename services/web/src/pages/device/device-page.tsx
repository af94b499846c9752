import { DeviceService, type FindDeviceResponse } from "@hlvm/proto/hlvm/identity/v1/login_pb";
import { useState } from "react";
import { useClient } from "../../api/use-client.ts";
import { useAction } from "../../api/use-call.ts";
import { Button } from "../../parts/button.tsx";
import parts from "../../parts/parts.module.css";
import { RelativeTime } from "../../parts/relative-time.tsx";
import { shownCode } from "../../parts/shown-text.ts";
import table from "../../parts/table.module.css";
import { TroubleNote } from "../../parts/trouble-note.tsx";
import { PageFrame } from "../../shell/page-frame.tsx";

/**
 * Lets a command on another machine log in as the one who types its code. The code is never filled in, and what asks is shown
 * before anything is allowed: a code that somebody else sent is the way in which this is abused.
 */
export function DevicePage() {
  const client = useClient(DeviceService);
  const [userCode, setUserCode] = useState("");
  const [device, setDevice] = useState<FindDeviceResponse>();
  const [answered, setAnswered] = useState("");
  const find = useAction(async () => setDevice(await client.findDevice({ userCode })));
  const answer = useAction(async (allow: boolean) => {
    await client.answerDevice({ userCode, allow });
    setAnswered(allow ? "It is logged in as you. Go back to its terminal." : "It was refused.");
  });
  return (
    <PageFrame title="Log in a command">
      <section className={table.section}>
        {answered === "" ? null : <p role="status">{answered}</p>}
        {device !== undefined || answered !== "" ? null : (
          <form
            className={table.choices}
            onSubmit={(event) => {
              event.preventDefault();
              find.run();
            }}
          >
            <p>Type the code that your own command shows. Never type one that somebody gave you.</p>
            <input
              className={table.input}
              aria-label="Code, eight letters"
              autoComplete="off"
              spellCheck={false}
              maxLength={20}
              required
              minLength={8}
              value={userCode}
              onChange={(event) => setUserCode(event.target.value)}
            />
            <Button type="submit" look="primary" disabled={find.isBusy}>
              Look at it
            </Button>
          </form>
        )}
        <TroubleNote trouble={find.trouble ?? answer.trouble} />
        {device === undefined || answered !== "" ? null : (
          <>
            <dl className={parts.pairs}>
              <dt>Machine</dt>
              <dd>{shownCode(device.label)}, as it says itself</dd>
              <dt>From</dt>
              <dd>{device.address}</dd>
              <dt>Asked</dt>
              <dd>
                <RelativeTime at={device.begunAt} />
              </dd>
            </dl>
            <p>Whoever sits there acts as you from then on, until you log it out.</p>
            <div className={table.choices}>
              <Button onClick={() => answer.run(false)} disabled={answer.isBusy}>
                Refuse
              </Button>
              <Button look="primary" onClick={() => answer.run(true)} disabled={answer.isBusy}>
                Log it in as me
              </Button>
            </div>
          </>
        )}
      </section>
    </PageFrame>
  );
}
