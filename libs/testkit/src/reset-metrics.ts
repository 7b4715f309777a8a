/** Vitest's setupFiles: a file of tests counts from 0, although it shares its process with the files before it. */
import { register } from 'prom-client'

register.resetMetrics()
