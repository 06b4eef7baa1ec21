import { Outlet } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState } from "react";
import { useConnection } from "../api/connection-state.ts";
import { DisconnectedBar } from "./disconnected-bar.tsx";
import { Navigation } from "./navigation.tsx";
import { SignedOut } from "./signed-out.tsx";
import { Toasts } from "./toasts.tsx";
import { useShortcuts } from "./use-shortcuts.ts";
import { useTitle } from "./use-title.ts";

const Palette = lazy(async () => ({ default: (await import("./command-palette.tsx")).Palette }));
const KeysDialog = lazy(async () => ({ default: (await import("./keys-dialog.tsx")).KeysDialog }));

export function Shell() {
  const isSignedOut = useConnection() === "signed-out";
  return isSignedOut ? <SignedOut /> : <SignedInShell />;
}

function SignedInShell() {
  const [isPaletteOpen, setPaletteOpen] = useState(false);
  const openPalette = useCallback(() => setPaletteOpen(true), []);
  const [areKeysOpen, setKeysOpen] = useState(false);
  const openKeys = useCallback(() => setKeysOpen(true), []);
  useShortcuts(openPalette, openKeys);
  useTitle();
  return (
    <div className="flex min-h-dvh flex-col md:flex-row">
      <Navigation onPalette={openPalette} onKeys={openKeys} />
      <div className="flex min-w-0 flex-1 flex-col">
        <DisconnectedBar />
        <main className="mx-auto w-full max-w-[1600px] flex-1 p-4 pb-20 md:p-6">
          <Outlet />
        </main>
      </div>
      <Toasts />
      {isPaletteOpen && (
        <Suspense>
          <Palette onClose={() => setPaletteOpen(false)} />
        </Suspense>
      )}
      {areKeysOpen && (
        <Suspense>
          <KeysDialog onClose={() => setKeysOpen(false)} />
        </Suspense>
      )}
    </div>
  );
}
