import type { Environment } from "./environment.ts";

/** Below this a value is a word that could stand anywhere. */
export const minSecretLength = 8;
const secretName = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|^HERDCTL_STORE$/i;

/** What of an environment must stand in no log, the longest first: one may begin with another. */
export function secretValues(environment: Environment): string[] {
  const found = Object.entries(environment).flatMap(([name, value = ""]) => [
    ...(secretName.test(name) && value.length >= minSecretLength ? [value] : []),
    ...passwordsIn(value),
  ]);
  return [...new Set(found)].sort((a, b) => b.length - a.length);
}

/** An address with a password in it, and that password as it is written and as it is meant. */
function passwordsIn(value: string): string[] {
  const password = passwordOf(value);
  if (password === undefined) return [];
  const forms = [password, encodeURIComponent(password), new URL(value).password];
  return [value, ...forms.filter((form) => form.length >= minSecretLength)];
}

/** As it is meant, of an address such as `postgres://name:password@host/base`. */
export function passwordOf(address: string): string | undefined {
  if (!address.includes("://") || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return decoded(url.password) || url.searchParams.get("password") || undefined;
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
