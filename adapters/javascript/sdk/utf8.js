// UTF-8, which the engine's JavaScript has no encoder or decoder for.

const PIECE = 8192;

/** Bytes as text. Throws where they are no UTF-8. */
export function decode(bytes) {
  const latin = decodeLatin(bytes);
  // Most lines are plain ASCII, and need nothing more.
  return isAscii(latin) ? latin : decodeURIComponent(escape(latin));
}

/** Bytes as text, with U+FFFD for all that are not ASCII if they are no UTF-8. */
export function decodeLossy(bytes) {
  try {
    return decode(bytes);
  } catch {
    return decodeLatin(bytes).replace(/[\x80-\xff]/g, '\ufffd');
  }
}

/** Text as bytes. */
export function encode(text) {
  return Uint8Array.from(unescape(encodeURIComponent(wellFormed(text))), (c) => c.charCodeAt(0));
}

/** Replaces halves of surrogate pairs, which UTF-8 does not have, by U+FFFD. */
export function wellFormed(text) {
  return text.replace(/\p{Surrogate}/gu, '\ufffd');
}

function decodeLatin(bytes) {
  let text = '';
  for (let at = 0; at < bytes.length; at += PIECE) {
    text += String.fromCharCode.apply(null, bytes.subarray(at, at + PIECE));
  }
  return text;
}

function isAscii(latin) {
  return !/[\x80-\xff]/.test(latin);
}
