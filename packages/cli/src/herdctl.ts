console.error("not yet");
