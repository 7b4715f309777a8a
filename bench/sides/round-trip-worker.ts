/** Program J: creates a work queue on disk with the product's settings, then replies to each message and acks it. */
import { natsConnectionOptions } from '@fms/service-kit/settings'
import { AckPolicy, jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connect } from 'nats'

const nats = await connect(natsConnectionOptions(process.argv[2]!))
const manager = await jetstreamManager(nats)
await manager.streams.add({
  name: 'PUBLISH',
  subjects: ['publish.form'],
  storage: StorageType.File,
  retention: RetentionPolicy.Workqueue,
})
await manager.consumers.add('PUBLISH', {
  durable_name: 'publisher',
  ack_policy: AckPolicy.Explicit,
  max_ack_pending: 512,
})
const consumer = await jetstream(nats).consumers.get('PUBLISH', 'publisher')
const messages = await consumer.consume({ max_messages: 256 })
process.send!({})
for await (const message of messages) {
  nats.publish(message.headers!.get('Reply-Inbox'), message.data)
  message.ack()
}
