// The version of what nodes send each other: frames, envelopes, topics and the names of commands. It is raised
// whenever one of these changes, since nodes of two versions would not understand each other: the frames carry
// it, and a node refuses to join a cluster in which a live node has another one.
//
// version   what changed
// 1         the first one; rows of nodes do not say it
// 2         names of frames, envelope fields and commands
// 3         commands and events of named API keys; holds and charges name their key
//           queries of parts outside the runtime; the account's command `standing`
// 4         frames are JSON, and a message may carry several of them

export const PROTOCOL_VERSION = 4;
