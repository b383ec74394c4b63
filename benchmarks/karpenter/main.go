// Command karpenter plans a workload with Karpenter's own scheduler, unmodified, so that ours can be measured beside it.
//
// It reads {"pods": [Pod…], "catalogue": {"instanceTypes": […]}, "preferences": "Respect" | "Ignore", "capacityTypes": […]}
// from standard input: pods as Kubernetes has them, the catalogue as `nodewright plan` reads it. It answers with one
// JSON object. One fresh Solve is timed; setting up isn't.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	kube "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/log"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/injection"
	"sigs.k8s.io/karpenter/pkg/operator/logging"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	requirements "sigs.k8s.io/karpenter/pkg/scheduling"
)

// Karpenter's own benchmark runs with five workers.
const workers = 5

type offering struct {
	Zone         string
	CapacityType string
	Price        float64
	Available    *bool
}

type instanceType struct {
	Name        string
	Labels      map[string]string
	Capacity    corev1.ResourceList
	Allocatable corev1.ResourceList
	Offerings   []offering
}

type workload struct {
	Pods          []*corev1.Pod
	Catalogue     struct{ InstanceTypes []instanceType }
	Preferences   string
	CapacityTypes []string
}

type answer struct {
	Seconds       float64 `json:"seconds"`
	CPUSeconds    float64 `json:"cpuSeconds"`
	Nodes         int     `json:"nodes"`
	Cost          float64 `json:"cost"`
	Unschedulable int     `json:"unschedulable"`
	PeakBytes     int64   `json:"peakBytes"`
}

func main() {
	given, err := read()
	if err == nil {
		err = run(given)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter:", err)
		os.Exit(1)
	}
}

func read() (*workload, error) {
	given := &workload{}
	if err := json.NewDecoder(bufio.NewReader(os.Stdin)).Decode(given); err != nil {
		return nil, fmt.Errorf("reading the workload: %w", err)
	}
	return given, nil
}

func run(given *workload) error {
	log.SetLogger(logging.NopLogger)
	ctx := options.ToContext(injection.WithControllerName(context.Background(), "provisioner"), settings())
	scheduler, err := newScheduler(ctx, given)
	if err != nil {
		return err
	}
	start, used := time.Now(), cpu()
	results, err := scheduler.Solve(ctx, given.Pods)
	took, worked := time.Since(start), cpu()-used
	if err != nil {
		return fmt.Errorf("solving: %w", err)
	}
	return json.NewEncoder(os.Stdout).Encode(answer{
		Seconds:       took.Seconds(),
		CPUSeconds:    worked.Seconds(),
		Nodes:         len(results.NewNodeClaims),
		Cost:          cost(results.NewNodeClaims),
		Unschedulable: len(results.PodErrors),
		PeakBytes:     peak(),
	})
}

func settings() *options.Options {
	return &options.Options{
		CPURequests:       workers * 1000,
		BatchMaxDuration:  10 * time.Second,
		BatchIdleDuration: time.Second,
		PreferencePolicy:  options.PreferencePolicyRespect,
		MinValuesPolicy:   options.MinValuesPolicyStrict,
		IgnoreDRARequests: true,
	}
}

func newScheduler(ctx context.Context, given *workload) (*scheduling.Scheduler, error) {
	opts := []scheduling.Options{scheduling.NumConcurrentReconciles(workers)}
	if given.Preferences == "Ignore" {
		opts = append(opts, scheduling.IgnorePreferences)
	}
	pool := nodePool(given.CapacityTypes)
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = instanceTypes(given.Catalogue.InstanceTypes)
	types := map[string][]*cloudprovider.InstanceType{pool.Name: provider.InstanceTypes}
	pools := []*v1.NodePool{pool}
	client, now := kube.NewFakeClient(), clock.RealClock{}
	cluster := state.NewCluster(now, client, provider)
	topology, err := scheduling.NewTopology(ctx, client, cluster, nil, pools, types, given.Pods, opts...)
	if err != nil {
		return nil, fmt.Errorf("setting up: %w", err)
	}
	recorder := events.NewRecorder(&record.FakeRecorder{})
	return scheduling.NewScheduler(
		ctx, client, pools, cluster, nil, topology, types, nil, recorder, now, nil, nil, opts...), nil
}

func nodePool(capacityTypes []string) *v1.NodePool {
	pool := &v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "default"}}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.test.sh", Kind: "TestNodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{
		{Key: v1.CapacityTypeLabelKey, Operator: corev1.NodeSelectorOpIn, Values: capacityTypes},
	}
	for _, condition := range []string{v1.ConditionTypeValidationSucceeded, v1.ConditionTypeNodeClassReady} {
		pool.StatusConditions().SetTrue(condition)
	}
	return pool
}

func instanceTypes(given []instanceType) []*cloudprovider.InstanceType {
	var types []*cloudprovider.InstanceType
	for _, each := range given {
		overhead := corev1.ResourceList{}
		for name, capacity := range each.Capacity {
			if allocatable, ok := each.Allocatable[name]; ok {
				capacity = capacity.DeepCopy()
				capacity.Sub(allocatable)
				overhead[name] = capacity
			}
		}
		offerings, zones, kinds := offeringsOf(each)
		of := requirements.NewLabelRequirements(each.Labels)
		of.Add(
			requirements.NewRequirement(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpIn, each.Name),
			requirements.NewRequirement(corev1.LabelTopologyZone, corev1.NodeSelectorOpIn, zones...),
			requirements.NewRequirement(v1.CapacityTypeLabelKey, corev1.NodeSelectorOpIn, kinds...),
		)
		types = append(types, &cloudprovider.InstanceType{
			Name:         each.Name,
			Requirements: of,
			Offerings:    offerings,
			Capacity:     each.Capacity,
			Overhead:     &cloudprovider.InstanceTypeOverhead{KubeReserved: overhead},
		})
	}
	return types
}

func offeringsOf(each instanceType) (offerings cloudprovider.Offerings, zones, kinds []string) {
	for _, one := range each.Offerings {
		zones, kinds = append(zones, one.Zone), append(kinds, one.CapacityType)
		offerings = append(offerings, &cloudprovider.Offering{
			Price:     one.Price,
			Available: one.Available == nil || *one.Available,
			Requirements: requirements.NewLabelRequirements(map[string]string{
				corev1.LabelTopologyZone: one.Zone,
				v1.CapacityTypeLabelKey:  one.CapacityType,
			}),
		})
	}
	return offerings, zones, kinds
}

// cost is that of the cheapest offering each node may still become.
func cost(claims []*scheduling.NodeClaim) float64 {
	total := 0.0
	for _, claim := range claims {
		least := -1.0
		for _, each := range claim.InstanceTypeOptions {
			offerings := each.Offerings.Available().Compatible(claim.Requirements)
			if len(offerings) == 0 {
				continue
			}
			if price := offerings.Cheapest().Price; least < 0 || price < least {
				least = price
			}
		}
		total += max(least, 0)
	}
	return total
}

// cpu is what this process has used of all cores.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// peak is the most memory this process had; Linux tells.
func peak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for _, line := range strings.Split(string(status), "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kibibytes, _ := strconv.ParseInt(fields[1], 10, 64)
			return kibibytes * 1024
		}
	}
	return 0
}

