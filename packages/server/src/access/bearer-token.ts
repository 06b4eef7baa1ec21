/** What stands in `Authorization: Bearer`; undefined when something else does. */
export function bearerToken(authorization: string): string | undefined {
  return /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
}
