/** Ends this browser's login on the server, and shows the page of a signed-out browser. */
export async function signOut(): Promise<void> {
  await fetch("/logout", { method: "POST" });
  location.assign("/");
}
