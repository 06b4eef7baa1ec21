import { join } from "node:path";
import { type ServiceFacts, startCommand } from "./service-facts.ts";

/**
 * The environment is read by Node itself, so that nothing secret stands here; the PATH is not secret,
 * and is set already when Node would read it. Runners outlive the fleet by `AbandonProcessGroup`.
 */
export function launchdPlist(facts: ServiceFacts): string {
  const { name, fleetDir, environmentFile, logDir, path } = facts;
  const [node = "", ...rest] = startCommand(facts);
  const command = [node, `--env-file=${environmentFile}`, ...rest];
  const log = join(logDir, "service.log");
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  ${text(name)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${text(word)}`).join("\n")}
  </array>
  <key>WorkingDirectory</key>
  ${text(fleetDir)}
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    ${text(path)}
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
  ${text(log)}
  <key>StandardErrorPath</key>
  ${text(log)}
</dict>
</plist>
`;
}

export function isPlistOf(plist: string, fleetFile: string): boolean {
  return plist.includes(`<string>--config</string>\n    ${text(fleetFile)}\n`);
}

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };

function text(value: string): string {
  return `<string>${value.replace(/[&<>]/g, (sign) => entities[sign] ?? sign)}</string>`;
}
