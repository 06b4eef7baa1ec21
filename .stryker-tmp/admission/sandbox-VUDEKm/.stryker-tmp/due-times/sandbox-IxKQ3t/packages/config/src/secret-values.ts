import type { Environment } from "./environment.ts";

/** A shorter value could be an ordinary word in a text. */
export const minSecretLength = 8;
const secretNamePattern = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|^HERDCTL_STORE$/i;

/**
 * Values of an environment that must not appear in logs. The longest come first, because one may
 * start with another.
 */
export function listSecretValues(environment: Environment): string[] {
  const found = Object.entries(environment).flatMap(([name, value = ""]) => [
    ...(secretNamePattern.test(name) && value.length >= minSecretLength ? [value] : []),
    ...listPasswords(value),
  ]);
  return [...new Set(found)].sort((a, b) => b.length - a.length);
}

/** An address that contains a password, and the password, both encoded and decoded. */
function listPasswords(value: string): string[] {
  const password = passwordOf(value);
  if (password === undefined) return [];
  const forms = [password, encodeURIComponent(password), new URL(value).password];
  return [value, ...forms.filter((form) => form.length >= minSecretLength)];
}

/** The decoded password of an address such as `postgres://name:password@host/base`. */
export function passwordOf(address: string): string | undefined {
  if (!address.includes("://") || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  return decodeUriOrKeep(url.password) || url.searchParams.get("password") || undefined;
}

export function decodeUriOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
