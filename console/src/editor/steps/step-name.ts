import { asText, type JsonObject } from '../../json/values.ts'
import { texts } from '../../texts.ts'

/** What people call a step: its title, or else its key. */
export const nameOfStep = ({ title, key }: JsonObject): string =>
  asText(title) || asText(key) || texts.steps.untitled
