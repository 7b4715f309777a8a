import { texts } from '../texts.ts'

/** Most characters in the name of a form, counted as Unicode code points. */
const maxLength = 200

/** The name of a copy of a form, cut off where it would be too long. */
export const nameOfCopy = (name: string): string => [...texts.forms.copyOf(name)].slice(0, maxLength).join('')
