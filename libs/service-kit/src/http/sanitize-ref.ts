/**
 * A reference to a resource as services read it: without characters that a path segment cannot hold unescaped, and at
 * most 100 characters long, which bounds what an error repeats of it. No UUID, public id or alias has an underscore or
 * 100 characters, so a reference that this changes matches nothing, neither before nor after.
 *
 * @param ref as a caller wrote it: any text.
 */
export const sanitizeRef = (ref: string): string => ref.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 100)
