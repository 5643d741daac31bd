// The types of the contract, as `wit-bindgen c` generates them, under short names.
#ifndef AKBENCH_CONTRACT_H
#define AKBENCH_CONTRACT_H

#include "adapter.h"

typedef adapter_string_t ak_string;
typedef adapter_option_string_t ak_option_string;
typedef akbench_agent_types_failure_t ak_failure;
typedef akbench_agent_types_agent_config_t ak_config;
typedef akbench_agent_types_environment_report_t ak_report;
typedef akbench_agent_types_task_t ak_task;
typedef akbench_agent_types_observations_t ak_observations;
typedef akbench_agent_types_token_usage_t ak_token_usage;
typedef akbench_agent_types_tool_call_t ak_tool_call;
typedef akbench_agent_process_exit_status_t ak_exit_status;
typedef akbench_agent_process_env_part_t ak_env_part;
typedef akbench_agent_events_event_t ak_event;

// For example `AK_CLASS(AGENT_CRASH)`.
#define AK_CLASS(name) AKBENCH_AGENT_TYPES_FAILURE_CLASS_##name
// For example `AK_STATUS(COMPLETED)`.
#define AK_STATUS(name) AKBENCH_AGENT_TYPES_AGENT_STATUS_##name
// For example `AK_EVENT(MESSAGE)`.
#define AK_EVENT(name) AKBENCH_AGENT_EVENTS_EVENT_##name

#endif
