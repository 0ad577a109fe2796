// The mark of what a translated answer gave its client to carry: thinking, or what a provider attached to its calls.

/**
 * The beginning of the `encrypted_content` of a reasoning item, or of the signature of a thinking block, that a translated
 * answer made. Only translations read what follows it, and no provider receives it.
 */
export const CARRYING_MARK = "arborgate.1.";
