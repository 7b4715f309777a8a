/**
 * Headers of a page of the console's build: it may load files of this gateway and send requests to it, and nothing else.
 *
 * @param imageOrigins from which it may load images and fonts of forms, too
 */
export const pageHeaders = (imageOrigins: readonly string[]) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data:", ...imageOrigins].join(' '),
    ["font-src 'self'", ...imageOrigins].join(' '),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
})
