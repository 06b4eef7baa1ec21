import { type ReactNode, useState } from "react";
import { useFleetMutation, useFleetQuery } from "../../api/queries.ts";
import { useReadOnlyReason } from "../../api/use-read-only-reason.ts";
import {
  type NotificationState,
  readNotificationState,
  switchNotifications,
} from "../../app/browser-notifications.ts";
import { signOut } from "../../app/sign-out.ts";
import { useTheme } from "../../app/use-theme.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Loading } from "../../ui/loading.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Panel } from "../../ui/panel.tsx";
import { sentenceCase } from "../../ui/sentence-case.ts";
import { RelativeTime } from "../../ui/time.tsx";
import { ConfigTable } from "../agent/configuration.tsx";

/** This browser's preferences, facts about the fleet, and its settings. */
export function SettingsPage() {
  return (
    <>
      <PageHeader title="Settings" note="This browser and this fleet" />
      <div className="flex flex-col gap-4">
        <div className="grid items-start gap-4 lg:grid-cols-2">
          <BrowserSettings />
          <FleetFacts />
        </div>
        <FleetSettings />
      </div>
    </>
  );
}

function Line({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 py-1">
      <dt className="text-muted">{title}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}

function BrowserSettings() {
  const { theme, setNext } = useTheme();
  const access = useFleetQuery("access").data;
  return (
    <Panel title="This browser">
      <dl>
        <Line title="Signed in as">{access ? `${access.identity}, ${access.scope}` : "…"}</Line>
        <Line title="Theme">
          <Button size="small" onClick={setNext}>
            {sentenceCase(theme)}
          </Button>
        </Line>
        <Line title="Notifications">
          <NotificationSwitch />
        </Line>
        <Line title="Sign-in">
          <Button size="small" onClick={() => void signOut()}>
            Sign out
          </Button>
        </Line>
      </dl>
    </Panel>
  );
}

const notificationNotes: Partial<Record<NotificationState, string>> = {
  denied: "Blocked by the browser",
  unsupported: "Not supported here",
};

/** Questions and permission requests also arrive while no page is open, if the browser can. */
function NotificationSwitch() {
  const [state, setState] = useState(readNotificationState);
  const note = notificationNotes[state];
  if (note !== undefined) return note;
  const isOn = state !== "off";
  return (
    <Button
      size="small"
      aria-pressed={isOn}
      title="Questions and permission requests, and failures while this dashboard is open in the background"
      onClick={() => void switchNotifications(!isOn).then(setState)}
    >
      {isOn ? "On" : "Off"}
    </Button>
  );
}

function FleetFacts() {
  const { data } = useFleetQuery("status");
  const readOnlyReason = useReadOnlyReason();
  const reload = useFleetMutation("reload");
  return (
    <Panel title="This fleet">
      {data ? (
        <dl>
          <Line title="Fleet file">
            <code className="font-mono text-sm">{data.fleet.file}</code>
          </Line>
          <Line title="Version">{data.fleet.version}</Line>
          <Line title="Started">
            <RelativeTime at={data.fleet.started_at} />
          </Line>
          <Line title="Configuration">
            <Button
              size="small"
              disabledReason={readOnlyReason}
              disabled={reload.isPending}
              onClick={() => reload.mutate({})}
            >
              {reload.isSuccess ? "Reloaded" : "Reload"}
            </Button>
          </Line>
        </dl>
      ) : (
        <Loading lines={4} />
      )}
      {reload.error && <ErrorNote error={reload.error} />}
    </Panel>
  );
}

function FleetSettings() {
  const { data, error } = useFleetQuery("configuration");
  if (error && !data) return <ErrorNote error={error} />;
  if (!data) return <Loading />;
  return (
    <Panel title="Fleet settings" aside="Secrets are masked" flush>
      <ConfigTable values={data.fleet} />
    </Panel>
  );
}
