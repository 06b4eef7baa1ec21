const mask = "••••••";
const secretName = /token|key|secret|passw|credential|auth|cookie/i;
const secretOption = /^--?[\w-]*(?:token|key|secret|passw\w*|credentials?|auth)[\w-]*$/i;

type Path = readonly (string | number)[];

/** A text of the configuration without what is usually secret at its place; the rest stays readable. */
export function maskLiteral(path: Path, text: string, previous: unknown): string {
  if (path.includes("headers")) return mask;
  if (path.includes("env") && secretName.test(String(path.at(-1)))) return mask;
  if (typeof previous === "string" && secretOption.test(previous)) return mask;
  const [option = "", ...rest] = text.split("=");
  if (rest.length > 0 && secretOption.test(option)) return `${option}=${mask}`;
  const isHook = path.includes("hooks") && path.at(-1) === "url";
  return text.replace(address, (found) => maskAddress(found, isHook));
}

const address = /[a-z][a-z\d+.-]*:\/\/[^\s"'<>]+/gi;
const webhookHost = /^(?:discord(?:app)?\.com|hooks\.slack\.com|.*\.webhook\.office\.com)$/;

/** The path of a webhook's address is its secret. */
function maskAddress(found: string, isHook: boolean): string {
  const withoutUser = found.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/?#]*@/i, `$1${mask}@`);
  const [, origin = "", host = "", rest = ""] =
    /^([a-z][a-z\d+.-]*:\/\/([^/?#]*))(.*)$/i.exec(withoutUser) ?? [];
  if (rest.length > 1 && (isHook || webhookHost.test(host))) return `${origin}/${mask}`;
  return origin + rest.replace(/([?&#][^=&#]+=)[^&#]+/g, `$1${mask}`);
}
