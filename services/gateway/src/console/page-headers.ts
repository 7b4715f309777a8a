/**
 * Headers of a page of the console's build: it may load files of this gateway and send requests to it, and nothing else.
 *
 * @param mediaOrigins from which it may load images and fonts, too.
 */
export const pageHeaders = (mediaOrigins: readonly string[] = []) => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    ["img-src 'self' data:", ...mediaOrigins].join(' '),
    ["font-src 'self'", ...mediaOrigins].join(' '),
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'no-referrer',
})
