import { texts } from '../texts.ts'
import { session } from './session.ts'

/** A user for people: `you`, or `user` and the beginning of the id. @param path `users/{user_id}`, or `""` */
export const userName = (path: string): string => {
  if (path === '') return texts.users.unknown
  return path === session.value?.userPath
    ? texts.users.you
    : texts.users.other(path.replace('users/', '').slice(0, 8))
}
