import { drainTime } from "../until-stopped.ts";
import { type ServiceFacts, startCommand } from "./service-facts.ts";

/** Above the time that a fleet may take which lets its jobs come to their end. */
const stopSeconds = drainTime / 1_000 + 40;

/**
 * Only the fleet itself is told to stop (`KillMode=process`): runners go on, and the next fleet finds
 * them. What they start stays in the unit's own control group (`Delegate`). A configuration that is
 * wrong (2) or a fleet that runs already (3) does not get better by trying again.
 */
export function systemdUnit(facts: ServiceFacts): string {
  return `[Unit]
Description=herdctl fleet ${oneLine(facts.fleet)}
StartLimitIntervalSec=300
StartLimitBurst=10

[Service]
Type=exec
WorkingDirectory=${specifiers(facts.fleetDir)}
EnvironmentFile=${specifiers(facts.environmentFile)}
ExecStart=${startCommand(facts).map(quoted).join(" ")}
ExecReload=${[facts.node, facts.script, "reload", "--config", facts.fleetFile].map(quoted).join(" ")}
KillMode=process
Delegate=yes
TimeoutStopSec=${stopSeconds}
Restart=on-failure
RestartSec=5
RestartPreventExitStatus=2 3
UMask=0077

[Install]
WantedBy=default.target

${marker(facts.fleetFile)}
`;
}

/** Systemd passes over sections with this beginning; by it a unit is known as this fleet's. */
function marker(fleetFile: string): string {
  return `[X-Herdctl]\nFleet=${specifiers(fleetFile)}`;
}

export function isUnitOf(text: string, fleetFile: string): boolean {
  return text.includes(`${marker(fleetFile)}\n`);
}

function quoted(word: string): string {
  const escaped = word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("$", "$$$$");
  return `"${specifiers(escaped)}"`;
}

function specifiers(text: string): string {
  return oneLine(text).replaceAll("%", "%%");
}

function oneLine(text: string): string {
  return text.replace(/[\r\n]+/g, " ");
}
