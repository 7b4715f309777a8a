/**
 * A JSON value (RFC 8259). A member may be `undefined`, which `JSON.stringify` omits: {@link mergePatch} marks
 * removed members with it.
 */
export type Json = null | boolean | number | string | Json[] | JsonObject

export type JsonObject = { [name: string]: Json | undefined }
