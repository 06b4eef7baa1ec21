import { join } from "node:path";
import { type ServiceSpec, serviceStartCommand } from "./service-spec.ts";

/**
 * Node reads the environment file itself, so that the plist contains no secrets. The PATH is set
 * here, because Node does not override it. `AbandonProcessGroup` lets runners outlive the fleet.
 */
export function renderLaunchdPlist(spec: ServiceSpec): string {
  const { name, fleetDir, environmentFile, logDir, searchPath } = spec;
  const [node = "", ...rest] = serviceStartCommand(spec);
  const command = [node, `--env-file=${environmentFile}`, ...rest];
  const log = join(logDir, "service.log");
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${stringElement(name)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${stringElement(word)}`).join("\n")}
  </array>
  <key>WorkingDirectory</key>
  ${stringElement(fleetDir)}
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${stringElement(searchPath)}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>120</integer>
  <key>AbandonProcessGroup</key>
  <true/>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  ${stringElement(log)}
  <key>StandardErrorPath</key>
  ${stringElement(log)}
</dict>
</plist>
`;
}

export function isFleetPlist(plist: string, fleetFile: string): boolean {
  return plist.includes(`<string>--config</string>\n    ${stringElement(fleetFile)}\n`);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function stringElement(value: string): string {
  return `<string>${value.replace(/[&<>]/g, (sign) => entities[sign] ?? sign)}</string>`;
}
