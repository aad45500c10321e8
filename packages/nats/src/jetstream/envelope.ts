/** Protocol version of a message. A message without it was not written by troupe. */
export const versionHeader = "Troupe-Version";
/** Hash of the body, if the body is too large for a message. */
export const blobHeader = "Troupe-Blob";
/** Reserved for the subject and the headers of a message. */
export const envelopeBytesMax = 1024;
